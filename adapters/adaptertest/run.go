package adaptertest

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// A scripted is one case: what it shows, what the platform must be able to do
// for it, and how it goes.
type scripted struct {
	name  string
	needs func(SuiteFixture) bool // nil: nothing beyond what every rig has
	play  func(*caseRun)
}

// Run plays the cases. open is called once for each, inside its bubble.
func Run(t *testing.T, open func(t *testing.T) SuiteFixture) {
	t.Helper()
	for i, c := range script() {
		t.Run(fmt.Sprintf("%02d_%s", i+1, c.name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := open(t)
				if c.needs != nil && !c.needs(rig) {
					t.Log("this platform has no notion of it")
					return
				}
				c.play(newStage(t, rig))
			})
		})
	}
}

// script lists the cases. Their numbers are stable: a case is replaced, never removed.
func script() []scripted {
	return []scripted{
		{"same_update_twice_has_one_key", func(r SuiteFixture) bool { return r.Redeliver != nil }, sameUpdateTwice},
		{"two_messages_have_two_keys", nil, twoMessages},
		{"message_says_who_where_when_and_what", nil, whoWhereWhenWhat},
		{"one_chat_keeps_its_order", nil, order},
		{"chats_do_not_mix", nil, chatsApart},
		{"disorder_loses_nothing", func(r SuiteFixture) bool { return r.Disorder != nil }, disorder},
		{"edit_holds_the_new_words_under_its_own_key", func(r SuiteFixture) bool { return r.Edit != nil }, edits},
		{"edit_of_a_message_never_seen", func(r SuiteFixture) bool { return r.EditUnseen != nil }, editUnseen},
		{"deletion_names_its_message_seen_or_not", func(r SuiteFixture) bool { return r.Delete != nil }, deletes},
		{"empty_text_is_an_update", nil, emptyText},
		{"ten_megabytes_of_text_stop_nothing", nil, hugeText},
		{"unknown_kind_is_kept_raw", func(r SuiteFixture) bool { return r.Unknown != nil }, unknownKind},
		{"malformed_update_is_quarantined", func(r SuiteFixture) bool { return r.Malformed != nil }, malformed},
		{"reply_names_its_target", nil, replyTarget},
		{"thread_is_kept", func(r SuiteFixture) bool { return r.Thread != "" }, threadKept},
		{"mention_is_to_us", func(r SuiteFixture) bool { return r.Mention != "" }, mention},
		{"reaction_says_before_and_after", func(r SuiteFixture) bool { return r.React != nil }, reaction},
		{"people_come_and_go", func(r SuiteFixture) bool { return r.Comes != nil && r.Goes != nil }, comeAndGo},
		{"nothing_is_acknowledged_before_accept", func(r SuiteFixture) bool { return r.Acked != nil }, ackAfterAccept},
		{"refused_batch_comes_again", nil, refusedAgain},
		{"refusal_keeps_the_order", nil, refusalOrder},
		{"cursor_resumes_after_restart", nil, cursorResumes},
		{"restart_before_accept_loses_nothing", nil, restartBeforeAccept},
		{"crash_between_accept_and_acknowledgement", func(r SuiteFixture) bool { return r.Acked != nil }, crashBeforeAck},
		{"cancelled_receive_returns_nil_at_once", nil, cancelled},
		{"lost_connection_is_an_error_and_can_be_mended", fails, lostConnection},
		{"silence_still_proves_life", nil, silence},
		{"second_reader_is_a_conflict", fails, conflict},
		{"dead_credentials_are_unauthorized", fails, unauthorized},
		{"receipt_names_the_message", nil, receipt},
		{"reply_and_thread_go_where_they_belong", nil, replyAndThread},
		{"vanished_reply_target_is_no_error", func(r SuiteFixture) bool { return r.Gone != nil }, vanishedTarget},
		{"permanent_refusals_are_told_apart", fails, permanent},
		{"limit_says_how_long", fails, limited},
		{"unknown_outcome_is_never_repeated", fails, unknownOutcome},
		{"unsent_is_safe_to_repeat", fails, unsent},
		{"own_message_can_be_edited_deleted_and_reacted_to", nil, ownMessage},
		{"split_parts_are_stable_and_whole", nil, split},
		{"concurrent_sends_have_their_own_receipts", nil, concurrent},
		{"secret_is_in_no_error_update_or_log", func(r SuiteFixture) bool { return r.Secret != "" && r.Fail != nil }, secret},
		{"press_comes_back_and_is_answered_to_who_pressed", func(r SuiteFixture) bool { return r.Press != nil }, presses},
		{"private_message_is_seen_by_one_person", func(r SuiteFixture) bool { return r.Private != nil }, toldAlone},
	}
}

// fails asks whether the platform can be made to fail at all; which failures it
// knows, the case finds out by arranging them.
func fails(r SuiteFixture) bool { return r.Fail != nil }
