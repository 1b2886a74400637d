package alerts

// ProblemCode names a kind of problem: "TRS-A04". It is stable and the name of a place
// in docs/problems.md.
type ProblemCode string

// The codes of what is watched while the program runs.
const (
	Credentials   ProblemCode = "TRS-A01"
	Conflict      ProblemCode = "TRS-A02"
	Deaf          ProblemCode = "TRS-A04"
	Panicked      ProblemCode = "TRS-A05"
	Misconfigured ProblemCode = "TRS-C01"
	BadReload     ProblemCode = "TRS-C02"
	LoggedSecret  ProblemCode = "TRS-C06"
	PromptMissing ProblemCode = "TRS-C07"
	DenialBurst   ProblemCode = "TRS-G01"
	ClockSkew     ProblemCode = "TRS-H01"
	ModelKey      ProblemCode = "TRS-M01"
	NoModel       ProblemCode = "TRS-M02"
	Truncates     ProblemCode = "TRS-M03"
	ModelDown     ProblemCode = "TRS-M05"
	NoActs        ProblemCode = "TRS-M07"
	BudgetNear    ProblemCode = "TRS-M08"
	BudgetSpent   ProblemCode = "TRS-M09"
	Rejects       ProblemCode = "TRS-M13"
	FellBack      ProblemCode = "TRS-M14"
	OutboxOld     ProblemCode = "TRS-O01"
	Unknown       ProblemCode = "TRS-O02"
	NotSent       ProblemCode = "TRS-O03"
	DiskLow       ProblemCode = "TRS-R01"
	BackupOld     ProblemCode = "TRS-R02"
	StoreSlow     ProblemCode = "TRS-R03"
	LeaseLost     ProblemCode = "TRS-R05"
	NoBells       ProblemCode = "TRS-R12"
	NoNotices     ProblemCode = "TRS-R13"
	Rewound       ProblemCode = "TRS-R14"
	Disagree      ProblemCode = "TRS-R15"
	NotTaken      ProblemCode = "TRS-R18"
	Unwritable    ProblemCode = "TRS-R19"
	Emptied       ProblemCode = "TRS-R20"
)

// OfDelivery returns the code of the problem behind an action that did not reach
// its platform, by the action's own code; empty when there is none to look up.
func OfDelivery(code string) ProblemCode {
	switch code {
	case "unauthorized":
		return Credentials
	case "conflict":
		return Conflict
	case "expired":
		return OutboxOld
	case "unknown":
		return Unknown
	}
	return ""
}

// A kind is what all problems of one code have in common; {} represents the
// subject.
type kind struct {
	Code     ProblemCode
	Severity AlertSeverity
	Says     string // a sentence without its full stop
	Remedy   string
}

var kinds = []kind{
	{Credentials, Fail, "the credentials of {} are refused", "trestle doctor {}"},
	{Conflict, Fail, "somebody else receives with the credentials of {}", "trestle doctor {}"},
	{Deaf, Fail, "{} is deaf", "trestle doctor {}"},
	{Panicked, Warn, "a fault of Trestle stopped something of {}", "trestle report"},
	{Misconfigured, Fail, "{} is misconfigured", "trestle config check"},
	{BadReload, Fail, "the changed configuration is invalid and not in force", "trestle config check"},
	{LoggedSecret, Warn, "a credential was about to be written into the log of {}", "see TRS-C06 in docs/problems.md"},
	{PromptMissing, Warn, "the prompt {} is activated and cannot be used", "mend its file, or see trestle prompts rollback"},
	{DenialBurst, Warn, "acts of {} are refused again and again", "trestle runs --since 1h, then trestle explain RUN"},
	{ClockSkew, Warn, "the clock differs from that of {}", "set the clock of this machine, by NTP for instance"},
	{ModelKey, Fail, "the endpoint of {} refuses its key or its account", "trestle doctor model"},
	{NoModel, Fail, "the endpoint has no model for {}", "trestle doctor model"},
	{Truncates, Fail, "the endpoint of {} reads less of a prompt than is configured", "trestle doctor model"},
	{ModelDown, Fail, "the endpoint of {} does not answer", "trestle doctor model"},
	{NoActs, Warn, "the model of {} writes text in place of calling tools: it can talk, and do nothing else", "trestle doctor model"},
	{BudgetNear, Warn, "four fifths of {} are spent for today", "raise {}, or wait for the day to end (UTC)"},
	{BudgetSpent, Fail, "{} is spent for today", "raise {}, or wait for the day to end (UTC)"},
	{Rejects, Fail, "the endpoint of {} rejects every request", "trestle doctor model"},
	{FellBack, Warn, "another model answers in place of {}", "trestle doctor model"},
	{OutboxOld, Fail, "messages to {} wait for more than five minutes", "trestle doctor {}"},
	{Unknown, Warn, "it is not known whether messages to {} arrived", "trestle runs --since 1h, then look into the chat"},
	{NotSent, Fail, "messages to {} are due and nobody sends them", "see TRS-O03 in docs/problems.md"},
	{DiskLow, Fail, "the disk of {} is nearly full", "make room, or move the data folder"},
	{BackupOld, Warn, "the last backup of {} is old", "trestle backup FILE"},
	{StoreSlow, Warn, "writing to {} is slow", "see what else uses the disk"},
	{NoBells, Warn, "{} cannot be used", "trestle doctor redis"},
	{NoNotices, Warn, "the notifications of {} do not arrive", "see TRS-R13 in docs/problems.md"},
	{Rewound, Fail, "the {} has lost what it had confirmed", "see TRS-R14 in docs/problems.md"},
	{Disagree, Warn, "the {} of the processes do not fit together", "trestle status, and see TRS-R15 in docs/problems.md"},
	{NotTaken, Fail, "work of {} is due and nobody takes it up", "see TRS-R18 in docs/problems.md"},
	{Unwritable, Fail, "{} cannot be written", "see TRS-R19 in docs/problems.md"},
	{Emptied, Warn, "{} was emptied, and is in use again", "nothing; see TRS-R20 in docs/problems.md"},
	{LeaseLost, Warn, "{} lost the lease of a cycle to another process", "see that one process alone serves this record"},
}

func kindOf(c ProblemCode) kind {
	for _, k := range kinds {
		if k.Code == c {
			return k
		}
	}
	// Written by a newer version: shown all the same.
	return kind{Code: c, Severity: Fail, Says: "{}", Remedy: "see docs/problems.md"}
}
