// Drives the fake Discord with discord.js, which was written against the real one.
// What it takes for granted, the fake has to do. See README.md for how to run it.
import assert from 'node:assert/strict';
import { Client, Events, GatewayIntentBits, Partials, Routes, DiscordAPIError, WebhookClient } from 'discord.js';

const base = process.argv[2] ?? 'http://127.0.0.1:8083';

async function control(verb, order) {
  const answer = await fetch(`${base}/control/${verb}`, { method: 'POST', body: JSON.stringify(order) });
  assert.ok(answer.ok, `${verb}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
}

const once = (emitter, event, want = () => true) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited in vain for ${event}`)), 10_000);
    const listener = (...args) => {
      if (!want(...args)) return;
      clearTimeout(timer);
      emitter.off(event, listener);
      resolve(args);
    };
    emitter.on(event, listener);
  });

let shown = 0;
async function shows(what, f) {
  await f();
  shown++;
  console.log(`ok ${shown} ${what}`);
}

const token = 'MTIz.honest.' + Math.random().toString(36).slice(2);
const maya = (await control('people', { name: 'Maya', username: 'maya' })).id;
const bot = (await control('bots', { token, name: 'ada' })).id;
const guild = (await control('guilds', { name: 'Family', person: maya })).id;
const room = (await control('channels', { guild, name: 'general' })).id;
const forum = (await control('channels', { guild, name: 'ideas', kind: 15 })).id;
await control('adds', { guild, bot, rights: 1 << 29 });

const client = new Client({
  intents: [
    GatewayIntentBits.Guilds, GatewayIntentBits.GuildMembers, GatewayIntentBits.GuildMessages, GatewayIntentBits.GuildMessageReactions,
    GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent, GatewayIntentBits.GuildExpressions,
  ],
  partials: [Partials.Channel, Partials.Message, Partials.Reaction],
  rest: { api: `${base}/api` },
});
client.on(Events.Error, (e) => console.error('error', e));

await shows('a login becomes a session, and its servers come', async () => {
  const ready = once(client, Events.ClientReady);
  await client.login(token);
  await ready;
  assert.equal(client.user.id, bot);
  assert.equal(client.guilds.cache.get(guild)?.name, 'Family');
  assert.equal(client.channels.cache.get(room)?.name, 'general');
  assert.ok(client.guilds.cache.get(guild).members.me.permissionsIn(room).has('SendMessages'));
});

const channel = () => client.channels.cache.get(room);
let said;
await shows('what a person says arrives with its author', async () => {
  const heard = once(client, Events.MessageCreate);
  const { id } = await control('says', { channel: room, person: maya, text: `hello <@${bot}>` });
  [said] = await heard;
  assert.equal(said.id, id);
  assert.equal(said.author.globalName, 'Maya');
  assert.ok(said.mentions.users.has(bot));
  assert.equal(said.guildId, guild);
});

let answer;
await shows('a reply, an edit, a reaction and a deletion', async () => {
  answer = await said.reply({ content: 'hello **Maya**', allowedMentions: { parse: [], repliedUser: false } });
  assert.equal(answer.reference.messageId, said.id);
  answer = await answer.edit('hello again');
  assert.equal(answer.content, 'hello again');
  await said.react('👍');
  await said.reactions.resolve('👍')?.users.remove(bot);
  const gone = once(client, Events.MessageDelete);
  await answer.delete();
  assert.equal((await gone)[0].id, answer.id);
});

await shows('edits, reactions and deletions of others', async () => {
  const edited = once(client, Events.MessageUpdate, (before, after) => after.content === 'goodbye');
  await control('edits', { channel: room, message: said.id, text: 'goodbye' });
  await edited;
  const reacted = once(client, Events.MessageReactionAdd);
  await control('reacts', { channel: room, person: maya, message: said.id, emoji: '🔥' });
  assert.equal((await reacted)[0].emoji.name, '🔥');
  const taken = once(client, Events.MessageReactionRemove);
  await control('reacts', { channel: room, person: maya, message: said.id });
  await taken;
  for (const emoji of ['🔥', '👍']) await control('reacts', { channel: room, person: maya, message: said.id, emoji });
  const cleared = once(client, Events.MessageReactionRemoveEmoji);
  await control('clears', { channel: room, message: said.id, emoji: '👍' });
  assert.equal((await cleared)[0].emoji.name, '👍');
  const emptied = once(client, Events.MessageReactionRemoveAll, (message) => message.id === said.id);
  await control('clears', { channel: room, message: said.id });
  await emptied;
});

await shows('the same nonce is the same message', async () => {
  const one = await channel().send({ content: 'once', nonce: 'abc', enforceNonce: true });
  const two = await channel().send({ content: 'once', nonce: 'abc', enforceNonce: true });
  assert.equal(one.id, two.id);
});

await shows('history is read in both directions, the newest first', async () => {
  for (let i = 0; i < 120; i++) await control('says', { channel: room, person: maya, text: `line ${i}` });
  const newest = await channel().messages.fetch({ limit: 100 });
  assert.equal(newest.size, 100);
  assert.equal(newest.first().content, 'line 119');
  const after = await channel().messages.fetch({ after: said.id, limit: 5 });
  assert.deepEqual([...after.values()].map((m) => m.content), ['line 3', 'line 2', 'line 1', 'line 0', 'once']);
  const before = await channel().messages.fetch({ before: newest.last().id, limit: 2 });
  assert.equal(before.first().content, 'line 19');
});

await shows('threads and forums', async () => {
  const thread = await channel().threads.create({ name: 'Lunch' });
  assert.equal(thread.parentId, room);
  const heard = once(client, Events.MessageCreate, (m) => m.channelId === thread.id);
  await control('says', { channel: thread.id, person: maya, text: 'soup' });
  assert.equal((await heard)[0].channel.name, 'Lunch');
  const post = await client.channels.cache.get(forum).threads.create({ name: 'Bread', message: { content: 'new bread' } });
  assert.equal(post.parentId, forum);
  const active = await client.guilds.cache.get(guild).channels.fetchActiveThreads();
  assert.deepEqual([...active.threads.keys()].sort(), [thread.id, post.id].sort());
});

await shows('webhooks speak under any name', async () => {
  const hook = await channel().createWebhook({ name: 'Trestle' });
  const sent = await new WebhookClient({ id: hook.id, token: hook.token }, { rest: { api: `${base}/api` } }).send({ content: 'I am Max', username: 'Max' });
  assert.equal(sent.author.username, 'Max');
  assert.equal((await channel().fetchWebhooks()).size, 1);
  await assert.rejects(channel().createWebhook({ name: 'Clyde' }), DiscordAPIError);
});

await shows('files', async () => {
  const sent = await channel().send({ content: 'list', files: [{ attachment: Buffer.from('milk'), name: 'list.txt' }] });
  const file = sent.attachments.first();
  assert.equal(file.name, 'list.txt');
  assert.equal(await (await fetch(file.url)).text(), 'milk');
});

await shows('direct chats', async () => {
  const direct = await (await client.users.fetch(maya)).createDM();
  const heard = once(client, Events.MessageCreate, (m) => m.channelId === direct.id);
  await control('says', { channel: direct.id, person: maya, text: 'psst' });
  assert.equal((await heard)[0].guildId, null);
  await direct.send('yes?');
});

await shows('slash commands and buttons', async () => {
  client.once(Events.InteractionCreate, (i) => i.reply({ content: 'done', flags: 64 }));
  assert.equal((await control('invokes', { channel: room, person: maya, bot, command: 'stop', text: 'now' })).answer, 4);
  client.once(Events.InteractionCreate, (i) => i.deferUpdate());
  assert.equal((await control('presses', { channel: room, person: maya, bot, message: said.id, command: 'ok' })).answer, 6);
});

await shows('refusals have their codes', async () => {
  const refused = async (f, code) => assert.equal((await f.catch((e) => e)).code, code);
  await refused(client.rest.get(Routes.channel('4711')), 10003);
  await refused(client.rest.get(Routes.channelMessage(room, '4711')), 10008);
  await refused(channel().send('x'.repeat(2001)), 50035);
  await refused(channel().send({ content: 'x', reply: { messageReference: '4711', failIfNotExists: true } }), 50035);
  await refused(said.edit('mine'), 50005);
  await refused(said.delete(), 50013);
});

await shows('a limit is waited out', async () => {
  await control('fault', { do: 'refuse', method: 'create message', retry_after: 1 });
  const began = Date.now();
  await channel().send('patience');
  assert.ok(Date.now() - began >= 1000);
});

await shows('members come, are named, and go', async () => {
  const kai = (await control('people', { name: 'Kai' })).id;
  const came = once(client, Events.GuildMemberAdd);
  await control('joins', { guild, person: kai });
  assert.equal((await came)[0].id, kai);
  const named = once(client, Events.GuildMemberUpdate);
  await control('nick', { guild, person: kai, name: 'Chef' });
  assert.equal((await named)[1].nickname, 'Chef');
  assert.equal((await client.guilds.cache.get(guild).members.fetch({ user: kai, force: true })).nickname, 'Chef');
  const left = once(client, Events.GuildMemberRemove);
  await control('leaves', { guild, person: kai });
  await left;
});

async function survives(how, lose, want) {
  await shows(`${how}: ${want}, and nothing is missed`, async () => {
    const stands = once(client, want === 'resumed' ? Events.ShardResume : Events.ShardReady);
    const heard = once(client, Events.MessageCreate, (m) => m.content === how);
    await lose();
    if (want === 'begun anew') await stands; // what is said before that is told nobody
    await control('says', { channel: room, person: maya, text: how });
    await Promise.all([heard, stands]);
  });
}
await survives('op 7', () => control('reconnect', { bot }), 'resumed');
await survives('close 4000', () => control('close', { bot, code: 4000 }), 'resumed');
await survives('cut', () => control('close', { bot, code: 0 }), 'resumed');
await survives('op 9, resumable', () => control('invalidate', { bot, resumable: true }), 'resumed');
await survives('op 9', () => control('invalidate', { bot, resumable: false }), 'begun anew');

await shows('a token that is revoked ends it', async () => {
  const ended = once(client, Events.Invalidated).catch(() => once(client, Events.ShardDisconnect));
  const closed = once(client, Events.ShardDisconnect);
  await control('revoke', { bot });
  await Promise.race([ended, closed]);
  await assert.rejects(client.rest.get(Routes.user('@me')), (e) => e.status === 401);
});

console.log(`${shown} of ${shown} shown`);
process.exit(0);
