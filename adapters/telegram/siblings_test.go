package telegram

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
)

// retold says in a line what updates tell.
func retold(updates []adapters.Update) string {
	var out []string
	said := func(m adapters.IncomingMessage) string {
		words := []string{fmt.Sprintf("%q", m.Text)}
		for _, a := range m.Attachments {
			words = append(words, fmt.Sprintf("+%s %q", a.Kind, a.Name))
		}
		return strings.Join(words, " ")
	}
	for _, u := range updates {
		var line string
		switch b := u.Body.(type) {
		case adapters.IncomingMessage:
			line = "says " + said(b)
		case adapters.MessageEdit:
			line = "edits " + said(b.New)
		case adapters.UnreadableUpdate:
			line = "unread " + b.Kind
		case adapters.ChatRenamed:
			line = "renames to " + b.Title
		default:
			line = fmt.Sprintf("%T", u.Body)
		}
		if u.From.Name != "" {
			line = u.From.Name + " " + line
		}
		if u.Thread.ID != "" {
			line += fmt.Sprintf(" in %s %q", u.Thread.ID, u.Thread.Title)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// check reads messages of a supergroup, by what each has beside its id and place.
func check(t *testing.T, kind string, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		raw := fmt.Sprintf(`{"update_id":1,%q:{"message_id":9,"chat":{"id":-1005,"type":"supergroup","title":"G"},"date":1700000000,%s}}`, kind, c[0])
		_, got := testReader().decode(json.RawMessage(raw), 0)
		if line := retold(got); line != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], line, c[1])
		}
	}
}

// What a message carries after an edit is what is told, whichever kind it is.
func TestEditsOfEveryKindOfContent(t *testing.T) {
	const kai = `"edit_date":1700000050,"from":{"id":5,"first_name":"Kai"},`
	check(t, "edited_message", [][2]string{
		{kai + `"location":{"latitude":48.2,"longitude":11.5,"live_period":3600,"heading":90,"proximity_alert_radius":10,"horizontal_accuracy":12.5}`, `Kai edits "" +location "48.200000, 11.500000"`},
		{kai + `"location":{"latitude":-0.000001,"longitude":180}`, `Kai edits "" +location "-0.000001, 180.000000"`},
		{kai + `"location":{"latitude":48.2,"longitude":11.5},"venue":{"location":{"latitude":48.2,"longitude":11.5},"title":"Café","address":"Main St"}`, `Kai edits "" +venue "Café, Main St (48.200000, 11.500000)"`},
		{kai + `"document":{"file_id":"f","file_unique_id":"u","file_name":"plan v2.pdf","mime_type":"application/pdf","file_size":9},"caption":"new plan"`, `Kai edits "new plan" +file "plan v2.pdf"`},
		{kai + `"document":{"file_id":"f","file_unique_id":"u","file_name":"plan v2.pdf"}`, `Kai edits "" +file "plan v2.pdf"`},
		{kai + `"photo":[{"file_id":"a","file_unique_id":"a","width":1,"height":1},{"file_id":"b","file_unique_id":"b","width":90,"height":90}],"caption":"新的**图**"`, `Kai edits "新的\\*\\*图\\*\\*" +photo ""`},
		{kai + `"animation":{"file_id":"f","file_unique_id":"u","file_name":"a.mp4"},"document":{"file_id":"f","file_unique_id":"u","file_name":"a.mp4"},"caption":"x"`, `Kai edits "x" +animation "a.mp4"`},
		{kai + `"audio":{"file_id":"f","file_unique_id":"u","title":"Song","performer":"P"},"caption":"","caption_entities":[]`, `Kai edits "" +audio "P - Song"`},
		{kai + `"voice":{"file_id":"f","file_unique_id":"u","duration":3},"caption":"transcript"`, `Kai edits "transcript" +voice ""`},
		{kai + `"poll":{"id":"1","question":"Lunch?","options":[{"text":"soup","voter_count":1}],"is_closed":true}`, `Kai edits "" +poll "Lunch?\n1. soup"`},
		{kai + `"checklist":{"title":"Shopping","tasks":[{"id":1,"text":"milk"},{"id":2,"text":"bread"}]}`, `Kai edits "" +checklist "Shopping\n- milk\n- bread"`},
		{kai + `"paid_media":{"star_count":1,"paid_media":[{"type":"preview"}]},"caption":"see"`, `Kai edits "see"`},
		{kai + `"reply_markup":{"inline_keyboard":[]},"text":"same"`, `Kai edits "same"`},
		{kai + `"game":{"title":"Chess"}`, `Kai unread game`},
		{kai + `"photo":[]`, `Kai unread photo`},
		{kai + `"brand_new":{"a":1},"caption":"with words"`, `Kai edits "with words"`},
		{kai + `"location":{"latitude":"48.2","longitude":11.5}`, `Kai unread location`},
		{kai + `"location":null,"text":"no place"`, `Kai edits "no place"`},
		{kai + `"document":"gone","text":"words"`, `Kai edits "words"`},
		{kai + `"photo":{"id":1},"caption":"words"`, `Kai edits "words"`},
		{kai + `"text":"words","entities":"none","quote":7,"reply_to_message":{"message_id":3,"chat":{"id":-1005},"photo":1}`, `Kai edits "words"`},
		{kai + `"text":7`, `unread edited_message`},
	})
}

// People and topics have the names that an update tells.
func TestNamesOfEveryKindOfSender(t *testing.T) {
	const kai = `"from":{"id":5,"first_name":"Kai"},`
	check(t, "message", [][2]string{
		{`"from":{"id":5,"first_name":"Kai","last_name":"Berg"},"text":"x"`, `Kai Berg says "x"`},
		{`"from":{"id":5,"first_name":"","last_name":"Berg"},"text":"x"`, `Berg says "x"`},
		{`"from":{"id":5,"first_name":"  ","username":"kai"},"text":"x"`, `says "x"`},
		{`"from":{"id":5,"first_name":"山田","last_name":"太郎"},"text":"x"`, `山田 太郎 says "x"`},
		{`"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-1005,"type":"supergroup","title":"G"},"author_signature":"boss","text":"x"`, `G says "x"`},
		{`"from":{"id":136817688,"is_bot":true,"first_name":"Channel"},"sender_chat":{"id":-1009,"type":"channel","title":"News"},"text":"x"`, `News says "x"`},
		{kai + `"new_chat_title":"Family 2"`, `Kai renames to Family 2`},
		{kai + `"new_chat_title":""`, `Kai unread new_chat_title`},
		{kai + `"message_thread_id":7,"forum_topic_created":{"name":"Food","icon_color":1}`, `Kai renames to Food in 7 "Food"`},
		{kai + `"message_thread_id":7,"is_topic_message":true,"forum_topic_edited":{"name":"Drinks"}`, `Kai renames to Drinks in 7 "Drinks"`},
		{kai + `"message_thread_id":7,"is_topic_message":true,"forum_topic_edited":{"icon_custom_emoji_id":"5"}`, `Kai unread forum_topic_edited in 7 ""`},
		{kai + `"message_thread_id":7,"is_topic_message":true,"reply_to_message":{"message_id":7,"chat":{"id":-1005,"type":"supergroup"},"date":1,"forum_topic_created":{"name":"Food"}},"text":"x"`, `Kai says "x" in 7 "Food"`},
		{kai + `"message_thread_id":7,"text":"a chain of replies"`, `Kai says "a chain of replies"`},
	})
}

// A message of a kind that is not known is a notice, and no words of the person it names.
func TestUnknownKindsAreNoWords(t *testing.T) {
	const kai = `"from":{"id":5,"first_name":"Kai"},`
	var cases [][2]string
	for kind := range strings.FieldsSeq(`gift unique_gift giveaway giveaway_winners users_shared web_app_data boost_added chat_background_set
		video_chat_started video_chat_ended message_auto_delete_timer_changed proximity_alert_triggered write_access_allowed
		paid_message_price_changed checklist_tasks_done successful_payment passport_data forum_topic_closed forum_topic_reopened
		general_forum_topic_hidden brand_new`) {
		cases = append(cases, [2]string{kai + fmt.Sprintf(`%q:{"text":"words","marked_as_done_task_ids":[1]}`, kind), "Kai unread " + kind})
	}
	check(t, "message", append(cases, [][2]string{
		{kai + `"delete_chat_photo":true`, `Kai unread delete_chat_photo`},
		{kai + `"connected_website":"x.org"`, `Kai unread connected_website`},
		{kai + `"brand_new":true,"text":"words beside it"`, `Kai says "words beside it"`},
		{kai + `"forward_origin":{"type":"brand_new","date":1},"text":"x"`, `Kai says "x"`},
		{kai + `"forward_origin":"brand new","text":"x"`, `Kai says "x"`},
	}...))
}
