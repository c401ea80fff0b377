#!/usr/bin/env node
// Has one capability minted under a delegate and signs with it; asks nobody: bot.mjs KEY RESOURCE [NAME]
// KEY is the file that "vault bot keygen" made, NAME the pairing that "vault agent pair --name NAME" made.
import { spawnSync } from 'node:child_process'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const env = process.env, raw = text => Buffer.from(text, 'base64url')
const fail = why => { console.error(why); process.exit(1) }
const [key, resource, name = 'bot'] = process.argv.slice(2)
// What needs the bot's key is signed by "vault bot", which asks nobody.
function bot(words, given) {
  const done = spawnSync(env.VAULT_BIN || 'vault', ['bot', ...words, '--key', key], { input: JSON.stringify(given), stdio: ['pipe', 'pipe', 'inherit'] })
  return done.status === 0 ? JSON.parse(done.stdout) : process.exit(done.status ?? 1) // it said why
}
function open() {
  const place = env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, 'agent-vault/s.sock') : join(homedir(), '.agent-vault/s.sock')
  const sock = connect(env.VAULT_SOCK || place).on('error', e => fail(e.message))
  const lines = createInterface({ input: sock })[Symbol.asyncIterator]()
  let id = 0
  return async function call(method, params) {
    sock.write(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }) + '\n')
    const { value, done } = await lines.next()
    if (done) fail('the vault has closed the connection')
    const { error, result } = JSON.parse(value)
    if (error) fail(`${error.data.code}: ${error.data.message} ${error.data.remedy} ${JSON.stringify(error.data.detail ?? '')}`)
    return result
  }
}

async function hello(kept) {
  const vault = open(), nonce = randomBytes(32)
  const got = await vault('hello', { version: '1', client: kept.client, nonce: nonce.toString('base64url') })
  const head = role => `agent-vault-hello-v1\n${role}\n1\n${kept.vault}\n`
  const proof = role => createHmac('sha256', raw(kept.secret)).update(head(role)).update(nonce).update(raw(got.nonce)).digest()
  if (!timingSafeEqual(proof('vault'), raw(got.proof))) fail('this is not the vault that we were paired with')
  await vault('hello.prove', { proof: proof('client').toString('base64url'), ...kept.last_head && { last_head: kept.last_head } })
  return vault
}

const kept = JSON.parse(readFileSync(join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'agent-vault/agents', name + '.json')))
const vault = await hello(kept)
const challenge = await vault('bot.nonce')
if (challenge.vault !== kept.vault || challenge.client !== kept.client) fail('the challenge is for somebody else')
await vault('bot.prove', bot(['sign', '--challenge', '-'], challenge))
const allowed = (await vault('mint.delegates')).delegates.find(d => d.state === 'active') ?? fail('no delegate names this bot')
const request = bot(['request', '--delegate', '-', '--resource', resource, '--agent-id', name], allowed.delegate)
const minted = await vault('mint.request', { request })
const payload = { type: 'example.message', text: 'Hello from a bot', resource, at: Date.now() }
const signed = await vault('mint.sign', { request_id: randomBytes(16).toString('hex'), mint: minted.mint, payload })
console.log(JSON.stringify({ ...signed, attestation: minted.attestation, payload })) // all that "vault verify" asks for
process.exit(0)
