package markup

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"pgregory.net/rapid"
)

// Emphasis beside the punctuation of languages that write no spaces is read as it was
// meant, and the words between two emphases are not.
func TestEmphasisBesideChineseJapaneseAndKorean(t *testing.T) {
	for md, want := range map[string]string{
		"边界：**社区显示：**第一。含**「重点」**内容。**有效**。":   "边界：<bold>社区显示：</bold>第一。含<bold>「重点」</bold>内容。<bold>有效</bold>。",
		"**标题：**正文和*斜体。*后面":                    "<bold>标题：</bold>正文和<italic>斜体。</italic>后面",
		"价格~~一百元，~~现在~~（旧价）~~五十":               "价格<strikethrough>一百元，</strikethrough>现在<strikethrough>（旧价）</strikethrough>五十",
		"答案||四十二。||不要看":                        "答案<spoiler>四十二。</spoiler>不要看",
		"他说**“你好”**就走了，*‘再见’*也没说":              "他说<bold>“你好”</bold>就走了，<italic>‘再见’</italic>也没说",
		"版本**【新】**和**《书》**和**（注）**都有":          "版本<bold>【新】</bold>和<bold>《书》</bold>和<bold>（注）</bold>都有",
		"**“︁Git”︁**Hub":                       "<bold>“︁Git”︁</bold>Hub",
		"これは**私のやりたかったこと。**だからするの。":            "これは<bold>私のやりたかったこと。</bold>だからするの。",
		"太郎は**「こんにちわ」**といった":                   "太郎は<bold>「こんにちわ」</bold>といった",
		"税込**¥10,000**で、**C#**や**F#**は":        "税込<bold>¥10,000</bold>で、<bold>C#</bold>や<bold>F#</bold>は",
		"葛󠄀**(注)**城市と大塚︀**(U+585A)**大塚":        "葛󠄀<bold>(注)</bold>城市と大塚︀<bold>(U+585A)</bold>大塚",
		"ｶﾅ**｢ｶｯｺ｣**ﾃﾞｽ":                       "ｶﾅ<bold>｢ｶｯｺ｣</bold>ﾃﾞｽ",
		"패키지를 발행하려면 **`npm publish`**를 실행":     "패키지를 발행하려면 <bold><code>npm publish</code></bold>를 실행",
		"**마크다운(Markdown)**은 *(참고)*처럼":         "<bold>마크다운(Markdown)</bold>은 <italic>(참고)</italic>처럼",
		"请看**[文档](https://a.b/c)**和***「都」***。": "请看<bold><linkhttps://a.b/c>文档</link></bold>和<italic><bold>「都」</bold></italic>。",
		"**外*内：*外。**后":                         "<bold>外<italic>内：</italic>外。</bold>后",
		"- **标题：**正文\n- **二：**文":               "<mark>- </mark><bold>标题：</bold>正文\n<mark>- </mark><bold>二：</bold>文",
		"2 * 3 * 4 和 a*b 与「 * 」":               "2 * 3 * 4 和 a*b 与「 * 」",
		"a_（b）_c 和 _（斜）_ 和中_文_字":               "a_（b）_c 和 <italic>（斜）</italic> 和中_文_字",
		"**🎉**go": "**🎉**go",
	} {
		text := New(native).Read(md)
		if got := text.Write(0, len(text.Words), tags{}); got != want {
			t.Errorf("%q\n got %q\nwant %q", md, got, want)
		}
	}
}

// Text without Chinese, Japanese and Korean is read as goldmark reads it.
func TestOtherLanguagesAreReadAsCommonMarkSays(t *testing.T) {
	render := func(m goldmark.Markdown, md string) string {
		var b bytes.Buffer
		if err := m.Convert([]byte(md), &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	standard, ours := goldmark.New(goldmark.WithExtensions(extension.Strikethrough)), goldmark.New(goldmark.WithExtensions(extension.Strikethrough, emphases, strikethroughs))
	pieces := rapid.SampledFrom([]string{
		"*", "**", "***", "_", "__", "~", "~~", "~~~", " ", "\n", "a", "Б", "é", ".", ",", "\"", "“", "”", "(", ")", "«", "€", "—", "🎉", "✅", "\u00A0",
		"`c`", "[l](/u)", "\\*", "\\_", "&nbsp;", "&amp;", "<b>", "1", "!", "\uFE0F", "> ", "- ",
	})
	rapid.Check(t, func(t *rapid.T) {
		md := strings.Join(rapid.SliceOfN(pieces, 0, 24).Draw(t, "pieces"), "")
		if want, got := render(standard, md), render(ours, md); got != want {
			t.Errorf("%q\n got %q\nwant %q", md, got, want)
		}
	})
}
