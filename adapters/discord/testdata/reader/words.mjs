// Writes into verdicts.json, beside each text, the words that discord-markdown-parser sees in it.
import fs from 'node:fs';
import { parse } from 'discord-markdown-parser';

const signs = {
  br: () => '\n', user: () => '@unknown-user', role: () => '@unknown-role', channel: () => '#unknown', emoji: (n) => `:${n.name}:`,
  twemoji: (n) => n.name, everyone: () => '@everyone', here: () => '@here',
};
const words = (n) => {
  if (Array.isArray(n)) return n.map(words).join('');
  if (signs[n.type]) return signs[n.type](n);
  if (typeof n.content === 'string') return n.content;
  return n.content === undefined ? n.target : words(n.content);
};

const file = new URL('verdicts.json', import.meta.url);
const verdicts = JSON.parse(fs.readFileSync(file));
for (const v of verdicts) v.words = words(parse(v.text, 'extended'));
fs.writeFileSync(file, JSON.stringify(verdicts, null, 1) + '\n');
