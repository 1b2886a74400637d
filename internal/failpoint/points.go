package failpoint

import "slices"

// A PointInfo is one registered point.
type PointInfo struct {
	Name   string   // what [Point] is called with
	Serves []string // the numbers of the crash points that a kill here covers
	Where  string   // the moment in the way of a message
}

// Points lists every point of the program in the order a message meets them. A
// name that is not here can not be planned or hit.
func Points() []PointInfo { return slices.Clone(points) }

var points = []PointInfo{
	{"ingest.received", []string{"K1"}, "a batch is read from the platform; no transaction is open"},
	{"ingest.before_commit", []string{"K2", "K5"}, "events and inbox rows are written; the transaction is not committed"},
	{"group.written", []string{"K2", "K14"}, "a group of writes is written without savepoints and not committed; an error has it taken back and written once more"},
	{"ingest.after_commit", []string{"K3"}, "the transaction is committed; the platform is not told and no doorbell has rung"},
	{"ingest.after_ack", []string{"K4"}, "the poll that acknowledges the batch is written; no answer came"},
	{"file.fetched", []string{"K6"}, "the bytes of a file are on disk; the record does not know"},
	{"wake.claimed", []string{"K7"}, "inbox rows are claimed and the cycle is open"},
	{"model.before_call", []string{"K8"}, "the request is recorded and not sent"},
	{"model.after_call", []string{"K9"}, "the answer is here and not recorded"},
	{"step.recorded", []string{"K10"}, "the answer is recorded; none of its acts has run"},
	{"tool.decided", []string{"K12"}, "a person's decision about a call of a tool is recorded; the call has not begun"},
	{"tool.claimed", []string{"K12"}, "a call of a tool is recorded as begun; the tool is not called"},
	{"tool.before_call", []string{"K12"}, "as tool.claimed, where the call is under way"},
	{"tool.after_call", []string{"K11", "K12"}, "the tool was called; its result is not recorded"},
	{"tool.before_result", []string{"K11", "K12"}, "as tool.after_call, where its end is about to be recorded"},
	{"tool.after_result", []string{"K11"}, "the result of a tool is recorded; no model has seen it"},
	{"mission.stepped", []string{"K23"}, "a person's step to a mission is recorded; no agent is woken yet"},
	{"acts.recorded", []string{"K13"}, "the results of the acts are recorded; the next call is not made"},
	{"cycle.before_commit", []string{"K14"}, "the cycle's last transaction is built and not committed"},
	{"cycle.after_commit", []string{"K15"}, "the cycle is committed; nobody was told to send"},
	{"outbox.sending", []string{"K16"}, "the row is marked as sending; nothing is on the wire"},
	{"send.after_write", []string{"K17"}, "the request is written; no answer came"},
	{"send.accepted", []string{"K18"}, "the platform accepted the message; the receipt is not recorded"},
	{"send.part", []string{"K19"}, "one part of a split message is settled; another follows"},
	{"receipt.committed", []string{"K20"}, "the receipt is recorded; the echo may arrive"},
	{"preview.shown", []string{"K22"}, "the platform shows what waits for its turn; the message is not sent"},
	{"draft.begun", []string{"K22"}, "a draft is recorded; nothing of it is posted"},
	{"draft.posted", []string{"K22"}, "the platform has a draft; the record does not know its message"},
	{"draft.kept", []string{"K22"}, "a draft stands, and the record knows where; its step is not decided"},
	{"draft.edited", []string{"K22"}, "a draft has grown; its step is not decided"},
	{"send.limited", []string{"K21"}, "the platform said wait; the time is not recorded"},
}

// registered reports whether name is in the table.
func registered(name string) bool {
	return slices.ContainsFunc(points, func(p PointInfo) bool { return p.Name == name })
}
