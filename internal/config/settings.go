package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/spaces"
)

// ResolvedSettings are the resolved settings of one agent in one space. settings_keys.go
// holds the keys, defaults and meanings.
type ResolvedSettings struct {
	Phases    string                 // auto, two, one
	PlainText string                 // auto, deliver, private
	Dialect   string                 // tools, tags
	OnStale   string                 // reconsider, send
	Streaming spaces.StreamingPolicy // auto, drafts, edits, off
	Feedback  spaces.FeedbackMode    // off, reactions, buttons
	// Acknowledge is the emoji of the reaction that shows that a message is worked on, or off.
	Acknowledge string
	Wake        spaces.WakePolicy
	Links       spaces.LinkPolicy // empty: by what the frame held
	LinkHosts   []string
	Timezone    string // name of a time zone; empty: that of the machine
	Focus       string
	Priority    int

	MaxSteps        int
	MaxOutputTokens int
	MaxSpaceActs    int
	Parallel        int
	ContextTokens   int
	RecallTokens    int
	Across          bool
	HighWater       float64
	LowWater        float64
	Guard           float64
	CacheTTL        time.Duration
	Expires         time.Duration
	OnUnknown       spaces.UnknownOutcomePolicy

	// Acts enables the tools of the platforms. The other tools are always available.
	Acts struct {
		SendMessage, SendFile, React, EditMessage, DeleteMessage, ReadMessages, Search, SetUp, Missions bool
	}
	Greeting struct{ LookUp bool }

	// Ambient says when messages that address no agent wake one.
	Ambient struct {
		Debounce, Defer time.Duration
		Sample          float64
	}
	Floor string

	Consciousness struct {
		MaxTokens, MinRecentCycles          int
		FullCycles, SingleCycles, GroupSize int
	}
	Chat struct{ KeepRecent, SummariseAbove int }

	Spans struct {
		Limit         int
		IncludeActive bool
		Idle          time.Duration
	}
	Threads    struct{ Keep, Partial, Summary float64 }
	Levels     struct{ Start, Max int }
	CrossSpace struct{ OriginLimit, TargetLimit, LongOriginLimit, LongTargetLimit int }
	Compact    struct{ AfterTurns, Keep, SummaryTokens int }
	Relevance  struct {
		Snippet    int
		Embeddings string // model that computes embeddings; empty: none
	}
	Read    struct{ Limit int }
	Wait    struct{ Timeout time.Duration }
	Memory  struct{ MaxChars int }
	Prompts struct{ Onboarding int }

	// Price holds the cost of a million tokens, and the currency of all costs.
	Price money.TokenPrice
	// CurrencyRate is what one US dollar costs in that currency; 0 is unknown.
	CurrencyRate float64
	// Budget limits tokens and their cost. A limit in money has the default number of
	// tokens beside it, for models without a known price.
	Budget struct {
		AgentPerDay, SpacePerDay, SenderPerDay, PerDay, PerCycle, PerRoot money.SpendLimit

		ToolsPerDay, ToolsPerMinute int // calls
	}
	// Attachments configure the download and upload of files.
	Attachments struct {
		Fetch, Send   bool
		MaxMB, KeepMB int
	}
	// Voice names the models that transcribe voice messages and that speak answers to them, empty:
	// none, and the voice of the second.
	Voice struct{ Model, Speak, Name string }
	// Summary names the model that summarises old runs; empty: none.
	Summary struct{ Model string }
	// Images limits the images in a request; Most is 0 for models without vision.
	Images struct{ Most, Side int }
	// Retention limits how long full model requests are stored; 0 is no limit.
	Retention struct{ Frames time.Duration }
}

// settingsLayer holds the settings of one place in the configuration by key.
type settingsLayer map[string]writtenSetting

// writtenSetting is one value as written.
type writtenSetting struct {
	text string
	at   ValueOrigin
}

// resolveSettings returns the settings of layers, the most specific last. Values
// were checked when they were read.
func resolveSettings(layers ...settingsLayer) ResolvedSettings {
	var s ResolvedSettings
	for _, k := range settingKeys {
		k.mustSet(&s, k.fallback)
		for _, l := range layers {
			if v, ok := l[k.name]; ok {
				k.mustSet(&s, v.text)
			}
		}
	}
	return s
}

// winningValue returns the most specific value of a key.
func winningValue(k settingKey, layers ...settingsLayer) writtenSetting {
	found := writtenSetting{text: k.fallback}
	for _, l := range layers {
		if v, ok := l[k.name]; ok {
			found = v
		}
	}
	return found
}

// settingKey is one row of [settingKeys]: name, default as written, meaning, and how
// a written value is parsed into [Settings].
type settingKey struct {
	name     string
	fallback string
	meaning  string
	value    valueForm
}

// A valueForm describes the values of a setting.
type valueForm struct {
	set   parseSetting
	kind  valueKind
	words []string // of oneWord
	least int      // of wholeNumber and someTokens
	start bool     // read only at start
	top   bool     // cannot be set per agent or space
}

// atStart marks a setting that is read only at start.
func atStart(v valueForm) valueForm {
	v.start = true
	return v
}

// topOnly marks a setting that is the same for all agents and spaces. In an entry it
// has no effect and is warned of.
func topOnly(v valueForm) valueForm {
	v.top = true
	return v
}

// optional lets a setting be empty, which is its zero value.
func optional(v valueForm) valueForm {
	set := v.set
	v.set = func(s *ResolvedSettings, text string) error {
		if text == "" {
			return nil
		}
		return set(s, text)
	}
	return v
}

// parseSetting stores a written value in s, or returns an error that lists the
// allowed values.
type parseSetting func(s *ResolvedSettings, text string) error

type valueKind int

const (
	oneWord valueKind = iota
	wholeNumber
	someTokens
	spending  // tokens or money
	aShare    // a number from 0 to 1
	someShare // a number above 0, up to 1
	anAmount  // of money
	yesOrNo   // true or false
	someTime  // a duration
	aName     // of a model at the endpoint
	someHosts
)

// mustSet stores a value that was checked before.
func (k settingKey) mustSet(s *ResolvedSettings, text string) {
	if err := k.value.set(s, text); err != nil {
		panic("config: unchecked value of " + k.name + ": " + err.Error())
	}
}

// description returns the meaning, with a note when the key counts at the top only.
func (k settingKey) description() string {
	if k.value.top {
		return k.meaning + " (at the top only)"
	}
	return k.meaning
}

func findSetting(name string) (settingKey, bool) {
	i := slices.IndexFunc(settingKeys, func(k settingKey) bool { return k.name == name })
	if i < 0 {
		return settingKey{}, false
	}
	return settingKeys[i], true
}

// settingGroups returns the prefixes of grouped settings: "budget", "chat", …
func settingGroups() map[string]bool {
	groups := map[string]bool{}
	for _, k := range settingKeys {
		if group, _, ok := strings.Cut(k.name, "."); ok {
			groups[group] = true
		}
	}
	return groups
}

func wordSetting[W ~string](field func(*ResolvedSettings) *W, options ...string) valueForm {
	return valueForm{kind: oneWord, words: options, set: func(s *ResolvedSettings, text string) error {
		if !slices.Contains(options, text) {
			return errNotOneOf(text, options)
		}
		*field(s) = W(text)
		return nil
	}}
}

func errNotOneOf(text string, options []string) error {
	if hint := textformat.DidYouMean(text, options); hint != "" {
		return fmt.Errorf("%q is none of %s; %s", text, strings.Join(options, ", "), hint)
	}
	return fmt.Errorf("%q is none of %s", text, strings.Join(options, ", "))
}

func integerSetting(field func(*ResolvedSettings) *int, least int) valueForm {
	return valueForm{kind: wholeNumber, least: least, set: func(s *ResolvedSettings, text string) error {
		n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		if err != nil || n < least {
			return fmt.Errorf("%q is no whole number of at least %d", text, least)
		}
		*field(s) = n
		return nil
	}}
}

func tokenSetting(field func(*ResolvedSettings) *int, least int) valueForm {
	return valueForm{kind: someTokens, least: least, set: func(s *ResolvedSettings, text string) error {
		n, err := parseTokens(text)
		if err != nil || n < least {
			return fmt.Errorf("%q is no number of tokens of at least %d, such as 60000, 60k or 2M", text, least)
		}
		*field(s) = n
		return nil
	}}
}

// parseTokens parses 60000, 60_000, 60k and 2M, each optionally followed by
// "tokens", and "off" as 0.
func parseTokens(text string) (int, error) {
	if text == "off" {
		return 0, nil
	}
	text = strings.ReplaceAll(strings.TrimSpace(strings.TrimSuffix(text, "tokens")), "_", "")
	scale := 1
	switch {
	case strings.HasSuffix(text, "k"):
		scale, text = 1_000, strings.TrimSuffix(text, "k")
	case strings.HasSuffix(text, "M"):
		scale, text = 1_000_000, strings.TrimSuffix(text, "M")
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n) * scale, err
}

func shareSetting(field func(*ResolvedSettings) *float64) valueForm {
	return valueForm{kind: aShare, set: func(s *ResolvedSettings, text string) error {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return fmt.Errorf("%q is no share between 0 and 1", text)
		}
		*field(s) = f
		return nil
	}}
}

// someShareSetting is a share above 0; instead says what to write for none.
func someShareSetting(field func(*ResolvedSettings) *float64, instead string) valueForm {
	form := shareSetting(field)
	form.kind = someShare
	share := form.set
	form.set = func(s *ResolvedSettings, text string) error {
		if err := share(s, text); err != nil || *field(s) > 0 {
			return err
		}
		return fmt.Errorf("%q is no share above 0; %s", text, instead)
	}
	return form
}

// nameSetting is the endpoint's name of a model; empty for none.
func nameSetting(field func(*ResolvedSettings) *string) valueForm {
	return valueForm{kind: aName, set: func(s *ResolvedSettings, text string) error {
		if strings.ContainsAny(text, " \t\r\n") {
			return fmt.Errorf("%q is no name", text)
		}
		*field(s) = text
		return nil
	}}
}

// zoneSetting is the name of a time zone.
func zoneSetting(field func(*ResolvedSettings) *string) valueForm {
	return valueForm{kind: aName, set: func(s *ResolvedSettings, text string) error {
		if _, err := timezone.Load(text); err != nil {
			return err
		}
		*field(s) = text
		return nil
	}}
}

// hostsSetting is a list of host names, written as one text or as a list.
func hostsSetting(field func(*ResolvedSettings) *[]string) valueForm {
	return valueForm{kind: someHosts, set: func(s *ResolvedSettings, text string) error {
		hosts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		for _, h := range hosts {
			if strings.ContainsAny(h, ":/?#@*") || !strings.Contains(h, ".") {
				return fmt.Errorf("%q is no host name, such as example.com", h)
			}
		}
		*field(s) = hosts
		return nil
	}}
}

// budgetSetting is a number of tokens or an amount of money. An amount leaves the
// tokens as they are, which limit models without a known price.
func budgetSetting(field func(*ResolvedSettings) *money.SpendLimit) valueForm {
	return valueForm{kind: spending, set: func(s *ResolvedSettings, text string) error {
		n, err := parseTokens(text)
		if err == nil && n >= 0 {
			*field(s) = money.SpendLimit{Tokens: n}
			return nil
		}
		amount, err := money.ParseAmount(text)
		if err != nil {
			return fmt.Errorf("%q is neither a number of tokens, such as 60000, 60k or 2M, nor an amount of money, such as 5 EUR or 2.50 USD", text)
		}
		field(s).Amount = amount
		return nil
	}}
}

// currencySetting is the code of a currency.
func currencySetting(field func(*ResolvedSettings) *string) valueForm {
	return valueForm{kind: aName, set: func(s *ResolvedSettings, text string) error {
		code := strings.ToUpper(text)
		if !money.IsCurrency(code) {
			return fmt.Errorf("%q is no code of a currency, such as USD or EUR", text)
		}
		*field(s) = code
		return nil
	}}
}

func moneySetting(field func(*ResolvedSettings) *float64) valueForm {
	return valueForm{kind: anAmount, set: func(s *ResolvedSettings, text string) error {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 0 && f <= 1e6) {
			return fmt.Errorf("%q is no amount of money", text)
		}
		*field(s) = f
		return nil
	}}
}

func boolSetting(field func(*ResolvedSettings) *bool) valueForm {
	return valueForm{kind: yesOrNo, set: func(s *ResolvedSettings, text string) error {
		on, err := parseBool(text)
		if err != nil {
			return err
		}
		*field(s) = on
		return nil
	}}
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func durationSetting(field func(*ResolvedSettings) *time.Duration) valueForm {
	return valueForm{kind: someTime, set: func(s *ResolvedSettings, text string) error {
		d, err := ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is no length of time, such as 90s, 5m, 12h or 14d", text)
		}
		*field(s) = d
		return nil
	}}
}

// ParseDuration parses Go's durations, and days such as 14d.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
