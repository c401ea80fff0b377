#!/usr/bin/env node
// Pairs with the vault once, then asks for one signature: agent.mjs DOMAIN [NAME] [--no-ask]
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

const env = process.env, raw = text => Buffer.from(text, 'base64url')
const fail = why => { console.error(why); process.exit(1) }
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
    if (error) fail(`${error.data.code}: ${error.data.message} ${error.data.remedy}`)
    return result.pending ? call('request.await', { request: result.pending }) : result
  }
}

async function pair(name) {
  const vault = open(), nonce = randomBytes(32)
  await vault('hello', { version: '1', nonce: randomBytes(32).toString('base64url') })
  const offer = await vault('pair', { name, commitment: createHash('sha256').update(nonce).digest('base64url') })
  const digest = createHash('sha256').update('agent-vault-pair-v1\n' + offer.vault).update(nonce).update(raw(offer.nonce)).digest()
  console.error('Compare with the vault: ' + String(digest.readBigUInt64BE() % 1000000n).padStart(6, '0'))
  return { version: 1, vault: offer.vault, ...await vault('pair.reveal', { pairing: offer.pairing, nonce: nonce.toString('base64url') }) }
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
const [domain, name = 'javascript-example'] = process.argv.slice(2).filter(a => a !== '--no-ask')
const path = join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'agent-vault/agents', name + '.json')
mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
const kept = existsSync(path) ? JSON.parse(readFileSync(path)) : await pair(name)
writeFileSync(path, JSON.stringify(kept), { mode: 0o600 })
const vault = await hello(kept)
const { domainHash, domainInfo: { domainId } } = await vault('domain.get', { domain })
const action_envelope = { type: 'agentenvelope.actionEnvelope', version: 1, agentId: name, actionIndex: 0, operation: 'send-message',
  domain: { domainId, domainHash }, resources: ['channel:support'], decayPolicy: { mode: 'BOTH' },
  timeWindow: { notBefore: null, notAfter: Date.UTC(new Date().getUTCFullYear() + 1) - 1 }, limits: { maxUses: 10, enforcement: 'external' } }
const payload = { type: 'example.message', text: 'Hello from JavaScript', at: Date.now() }
const signed = await vault('action.sign', { request_id: randomBytes(16).toString('hex'), action_envelope, payload, interactive: !process.argv.includes('--no-ask') })
writeFileSync(path, JSON.stringify({ ...kept, last_head: signed.log_head }))
console.log(JSON.stringify({ ...signed, payload })) // all that "vault verify" asks for
process.exit(0)
