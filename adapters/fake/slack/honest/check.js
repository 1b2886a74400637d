// Drives the fake Slack with Slack's own clients, to see that it behaves as they
// expect of Slack. By hand:
//
//	trestle fake slack --listen 127.0.0.1:8082 &
//	npm install && node check.js http://127.0.0.1:8082
const assert = require('node:assert');
const {WebClient, ErrorCode, LogLevel} = require('@slack/web-api');
const {SocketModeClient} = require('@slack/socket-mode');
const {App} = require('@slack/bolt');

const base = process.argv[2] || 'http://127.0.0.1:8082';
const slackApiUrl = base + '/api/';
const control = async (path, body) => {
  const r = await fetch(base + '/control/' + path, body ? {method: 'POST', body: JSON.stringify(body)} : {});
  const v = await r.json();
  assert.ok(r.ok, path + ': ' + JSON.stringify(v));
  return v;
};
const until = async (what, cond, ms = 8000) => {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const v = await cond();
    if (v) return v;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error('waited in vain for ' + what);
};
let checks = 0;
const check = async (name, fn) => { await fn(); checks++; console.log('ok  ' + name); };

(async () => {
  const stamp = Date.now().toString(36);
  const tokens = {bot_token: 'xoxb-' + stamp, app_token: 'xapp-' + stamp, signing_secret: 'secret'};
  const app = await control('apps', {name: 'Ada', handle: 'ada_' + stamp, ...tokens});
  const maya = await control('people', {name: 'Maya'});
  const ops = await control('channels', {kind: 'public', name: 'ops', people: [maya.id], apps: [app.id]});
  const web = new WebClient(tokens.bot_token, {slackApiUrl, retryConfig: {retries: 0}, rejectRateLimitedCalls: true, logLevel: LogLevel.ERROR});
  const me = await web.auth.test();
  let posted;

  await check('web-api: auth.test names the bot', async () => assert.equal(me.user_id, app.user));
  await check('web-api: a bad token is invalid_auth', async () => {
    const bad = new WebClient('xoxb-wrong', {slackApiUrl, retryConfig: {retries: 0}, logLevel: LogLevel.ERROR});
    await assert.rejects(bad.auth.test(), (e) => e.code === ErrorCode.PlatformError && e.data.error === 'invalid_auth');
  });
  await check('web-api: post, thread, broadcast, metadata, history with metadata', async () => {
    posted = await web.chat.postMessage({channel: ops.id, text: 'hello *world*', metadata: {event_type: 'test', event_payload: {id: 'k1'}}});
    await web.chat.postMessage({channel: ops.id, text: 'reply', thread_ts: posted.ts});
    await web.chat.postMessage({channel: ops.id, text: 'to all', thread_ts: posted.ts, reply_broadcast: true});
    const h = await web.conversations.history({channel: ops.id, include_all_metadata: true});
    assert.deepEqual(h.messages.map((m) => m.text), ['to all', 'hello *world*']);
    assert.equal(h.messages[1].metadata.event_payload.id, 'k1');
    assert.equal(h.messages[1].reply_count, 2);
    const r = await web.conversations.replies({channel: ops.id, ts: posted.ts});
    assert.deepEqual(r.messages.map((m) => m.text), ['hello *world*', 'reply', 'to all']);
  });
  await check('web-api: pagination by cursor', async () => {
    let n = 0;
    for await (const page of web.paginate('conversations.replies', {channel: ops.id, ts: posted.ts, limit: 1})) n += page.messages.length;
    assert.equal(n, 3);
  });
  await check('web-api: blocks and markdown_text', async () => {
    await web.chat.postMessage({channel: ops.id, text: 'fallback', blocks: [{type: 'section', text: {type: 'mrkdwn', text: '*x*'}}]});
    await web.chat.postMessage({channel: ops.id, markdown_text: '# T\n\n- one'});
    await assert.rejects(web.chat.postMessage({channel: ops.id, markdown_text: 'a', text: 'b'}), (e) => e.data.error === 'markdown_text_conflict');
    await assert.rejects(web.chat.postMessage({channel: ops.id, text: ''}), (e) => e.data.error === 'no_text');
    await assert.rejects(web.chat.postMessage({channel: ops.id, text: 'x', blocks: [{type: 'no_such'}]}), (e) => e.data.error === 'invalid_blocks');
  });
  await check('web-api: update, react, delete', async () => {
    await web.chat.update({channel: ops.id, ts: posted.ts, text: 'changed'});
    await web.reactions.add({channel: ops.id, timestamp: posted.ts, name: 'eyes'});
    await assert.rejects(web.reactions.add({channel: ops.id, timestamp: posted.ts, name: 'eyes'}), (e) => e.data.error === 'already_reacted');
    const got = await web.reactions.get({channel: ops.id, timestamp: posted.ts});
    assert.deepEqual(got.message.reactions, [{name: 'eyes', users: [me.user_id], count: 1}]);
    const gone = await web.chat.postMessage({channel: ops.id, text: 'gone'});
    await web.chat.delete({channel: ops.id, ts: gone.ts});
    await assert.rejects(web.chat.delete({channel: ops.id, ts: gone.ts}), (e) => e.data.error === 'message_not_found');
  });
  await check('web-api: channels, members, people', async () => {
    const c = await web.users.conversations({types: 'public_channel,private_channel,im,mpim'});
    assert.ok(c.channels.some((ch) => ch.id === ops.id && ch.name === 'ops'));
    const m = await web.conversations.members({channel: ops.id});
    assert.deepEqual(m.members.sort(), [maya.id, me.user_id].sort());
    assert.equal((await web.users.info({user: maya.id})).user.profile.display_name, 'Maya');
    await assert.rejects(web.conversations.info({channel: 'C404'}), (e) => e.data.error === 'channel_not_found');
  });
  await check('web-api: files.uploadV2 in its three steps', async () => {
    const up = await web.filesUploadV2({filename: 't.csv', content: 'a,b'});
    assert.ok(up.ok);
  });
  await check('web-api: a limit is a RateLimitedError with its seconds', async () => {
    await control('fault', {do: 'refuse', method: 'chat.postMessage', retry_after: 1});
    await assert.rejects(web.chat.postMessage({channel: ops.id, text: 'x'}), (e) => e.code === ErrorCode.RateLimitedError && e.retryAfter === 1);
    await new Promise((done) => setTimeout(done, 1100));
  });

  const socket = new SocketModeClient({appToken: tokens.app_token, clientOptions: {slackApiUrl}, logLevel: LogLevel.ERROR});
  const events = [];
  let answering = true;
  socket.on('slack_event', async ({ack, body, retry_num}) => {
    const event = body.event;
    events.push({id: body.event_id, text: event && event.text, type: event && event.type, retry: retry_num});
    if (answering) await ack();
  });
  await check('socket-mode: hello, a message, its acknowledgement', async () => {
    await socket.start();
    await control('says', {channel: ops.id, from: maya.id, text: 'over the socket'});
    await until('the message', () => events.some((e) => e.text === 'over the socket'));
    const acked = async () => (await control('ledger')).acked.some((a) => a.kind === 'message' && a.channel === ops.id);
    await until('the acknowledgement', acked);
  });
  await check('socket-mode: what is not acknowledged comes again under the same event id', async () => {
    answering = false;
    await control('says', {channel: ops.id, from: maya.id, text: 'again and again'});
    await until('the retry', () => events.filter((e) => e.text === 'again and again').length >= 2);
    answering = true;
    const ids = new Set(events.filter((e) => e.text === 'again and again').map((e) => e.id));
    assert.equal(ids.size, 1);
    assert.ok(events.some((e) => e.text === 'again and again' && e.retry === 1));
  });
  await check('socket-mode: a disconnect is followed by a new connection', async () => {
    const connected = new Promise((done) => socket.once('connected', done)); // this client waits five seconds first
    await control('does', {do: 'disconnects', app: app.id, text: 'refresh_requested'});
    await connected;
    await control('says', {channel: ops.id, from: maya.id, text: 'after the refresh'});
    await until('the message', () => events.some((e) => e.text === 'after the refresh'));
  });
  await socket.disconnect();

  const bolt = new App({token: tokens.bot_token, appToken: tokens.app_token, socketMode: true, clientOptions: {slackApiUrl}, logLevel: LogLevel.ERROR});
  const heard = [];
  bolt.event('app_mention', async ({event, say}) => { heard.push(event.text); await say({text: 'yes?', thread_ts: event.ts}); });
  bolt.message('ping', async ({say}) => { await say('pong'); });
  bolt.command('/trestle', async ({command, ack, respond}) => { heard.push(command.command + ' ' + command.text); await ack(); });
  bolt.event('reaction_added', async ({event}) => { heard.push(':' + event.reaction + ':'); });
  await check('bolt: mention, message, command, reaction, and what it says', async () => {
    await bolt.start();
    await control('says', {channel: ops.id, from: maya.id, text: '@ada_' + stamp + ' are you there?'});
    const ping = await control('says', {channel: ops.id, from: maya.id, text: 'ping'});
    await control('does', {do: 'reacts', channel: ops.id, from: maya.id, ts: ping.ts, names: ['+1']});
    await control('does', {do: 'commands', channel: ops.id, from: maya.id, app: app.id, text: 'stop'});
    await until('everything', () => heard.length >= 3);
    assert.ok(heard.includes('/trestle stop') && heard.includes(':+1:'));
    const sent = await until('the answers', async () => {
      const all = await control('sent?channel=' + ops.id);
      return all.some((m) => m.text === 'pong') && all.some((m) => m.text === 'yes?') && all;
    });
    assert.ok(sent.find((m) => m.text === 'yes?').thread);
  });
  await bolt.stop();
  console.log(checks + ' checks passed');
  process.exit(0);
})().catch((e) => { console.error(e); process.exit(1); });
