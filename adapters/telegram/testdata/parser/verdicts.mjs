// Asks Telegram's own parser (TDLib, offline) about every html in verdicts.json
// and writes its answers beside them. See README.md.
import fs from 'node:fs'
import tdl from 'tdl'
import { getTdjson } from 'prebuilt-tdlib'

tdl.configure({ tdjson: getTdjson(), verbosityLevel: 0 })
const file = process.argv[2]
const all = JSON.parse(fs.readFileSync(file, 'utf8'))
let refused = 0

function judge(part) {
  const said = tdl.execute({ _: 'parseTextEntities', text: part.html, parse_mode: { _: 'textParseModeHTML' } })
  delete part.error
  part.text = ''
  part.entities = []
  if (said._ === 'error') {
    part.error = said.message
    return false
  }
  part.text = said.text
  part.entities = said.entities.map(e => {
    const out = { type: e.type._.replace('textEntityType', ''), offset: e.offset, length: e.length }
    const arg = e.type.url ?? e.type.language
    if (arg) out.arg = arg
    return out
  })
  return true
}

for (const r of all.rendered) for (const p of r.parts ?? []) if (!judge(p)) { refused++; console.log(p.error, JSON.stringify(p.html)) }
for (const p of all.others) judge(p)
fs.writeFileSync(file, JSON.stringify(all, null, 1) + '\n')
console.log(`${all.rendered.length} inputs, ${refused} parts refused`)
