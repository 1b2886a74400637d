package alerts

// Code names a kind of problem: "TRS-A04". It is stable and the name of a place
// in docs/problems.md.
type Code string

// The codes of what is watched while the program runs.
const (
	Credentials   Code = "TRS-A01"
	Conflict      Code = "TRS-A02"
	Deaf          Code = "TRS-A04"
	Misconfigured Code = "TRS-C01"
	BadReload     Code = "TRS-C02"
	LoggedSecret  Code = "TRS-C06"
	DenialBurst   Code = "TRS-G01"
	ClockSkew     Code = "TRS-H01"
	ModelKey      Code = "TRS-M01"
	NoModel       Code = "TRS-M02"
	Truncates     Code = "TRS-M03"
	ModelDown     Code = "TRS-M05"
	NoActs        Code = "TRS-M07"
	BudgetNear    Code = "TRS-M08"
	BudgetSpent   Code = "TRS-M09"
	Rejects       Code = "TRS-M13"
	OutboxOld     Code = "TRS-O01"
	Unknown       Code = "TRS-O02"
	NotSent       Code = "TRS-O03"
	DiskLow       Code = "TRS-R01"
	BackupOld     Code = "TRS-R02"
	StoreSlow     Code = "TRS-R03"
	LeaseLost     Code = "TRS-R05"
	NoBells       Code = "TRS-R12"
	NoNotices     Code = "TRS-R13"
	Rewound       Code = "TRS-R14"
	Disagree      Code = "TRS-R15"
	NotTaken      Code = "TRS-R18"
)

// OfDelivery returns the code of the problem behind an action that did not reach
// its platform, by the action's own code; empty when there is none to look up.
func OfDelivery(code string) Code {
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
	Code     Code
	Severity Severity
	Says     string // a sentence without its full stop
	Remedy   string
}

var kinds = []kind{
	{Credentials, Fail, "the credentials of {} are refused", "trestle doctor {}"},
	{Conflict, Fail, "somebody else receives with the credentials of {}", "trestle doctor {}"},
	{Deaf, Fail, "{} is deaf", "trestle doctor {}"},
	{Misconfigured, Fail, "{} is misconfigured", "trestle config check"},
	{BadReload, Fail, "the changed configuration is invalid and not in force", "trestle config check"},
	{LoggedSecret, Warn, "a credential was about to be written into the log of {}", "see TRS-C06 in docs/problems.md"},
	{DenialBurst, Warn, "acts of {} are refused again and again", "trestle runs --since 1h, then trestle explain RUN"},
	{ClockSkew, Warn, "the clock differs from that of {}", "set the clock of this machine, by NTP for instance"},
	{ModelKey, Fail, "the key of {} is refused", "trestle doctor model"},
	{NoModel, Fail, "the endpoint has no model for {}", "trestle doctor model"},
	{Truncates, Fail, "the endpoint of {} cuts prompts without saying so", "trestle doctor model"},
	{ModelDown, Fail, "the endpoint of {} does not answer", "trestle doctor model"},
	{NoActs, Warn, "the model of {} writes words, which nobody sees, in place of acts", "trestle doctor model"},
	{BudgetNear, Warn, "four fifths of {} are spent for today", "raise {}, or wait for the day to end (UTC)"},
	{BudgetSpent, Fail, "{} is spent for today", "raise {}, or wait for the day to end (UTC)"},
	{Rejects, Fail, "the endpoint of {} rejects every request", "trestle doctor model"},
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
	{LeaseLost, Warn, "{} lost the lease of a cycle to another process", "see that one process alone serves this record"},
}

func kindOf(c Code) kind {
	for _, k := range kinds {
		if k.Code == c {
			return k
		}
	}
	// Written by a newer version: shown all the same.
	return kind{Code: c, Severity: Fail, Says: "{}", Remedy: "see docs/problems.md"}
}
