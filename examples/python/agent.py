#!/usr/bin/env python3
"""Pairs with the vault once, then asks for one signature: agent.py DOMAIN [NAME] [--no-ask]"""
import base64, calendar, hashlib, hmac, json, os, pathlib, secrets, socket, sys, time

def text(raw): return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
def raw(text): return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
class Vault:
    def __init__(self):
        run = os.environ.get("XDG_RUNTIME_DIR")
        place = f"{run}/agent-vault/s.sock" if run else os.path.expanduser("~/.agent-vault/s.sock")
        self.sock, self.id = socket.socket(socket.AF_UNIX), 0
        self.sock.connect(os.environ.get("VAULT_SOCK") or place)
        self.lines = self.sock.makefile("rb")

    def call(self, method, **params):
        self.id += 1
        self.sock.sendall(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode() + b"\n")
        answer = json.loads(self.lines.readline() or sys.exit("the vault has closed the connection"))
        if "error" in answer:
            sys.exit("{code}: {message} {remedy}".format(**answer["error"]["data"]))
        if "pending" in answer["result"]:
            return self.call("request.await", request=answer["result"]["pending"])
        return answer["result"]

def pair(name):
    vault, nonce = Vault(), secrets.token_bytes(32)
    vault.call("hello", version="1", nonce=text(secrets.token_bytes(32)))
    offer = vault.call("pair", name=name, commitment=text(hashlib.sha256(nonce).digest()))
    digest = hashlib.sha256(b"agent-vault-pair-v1\n" + offer["vault"].encode() + nonce + raw(offer["nonce"])).digest()
    print("Compare with the vault: %06d" % (int.from_bytes(digest[:8], "big") % 10**6), file=sys.stderr, flush=True)
    return {"version": 1, "vault": offer["vault"], **vault.call("pair.reveal", pairing=offer["pairing"], nonce=text(nonce))}

def hello(kept):
    vault, nonce = Vault(), secrets.token_bytes(32)
    got = vault.call("hello", version="1", client=kept["client"], nonce=text(nonce))
    def proof(role):
        head = f"agent-vault-hello-v1\n{role}\n1\n{kept['vault']}\n".encode()
        return text(hmac.digest(raw(kept["secret"]), head + nonce + raw(got["nonce"]), "sha256"))
    if not hmac.compare_digest(proof("vault"), got["proof"]):
        sys.exit("this is not the vault that we were paired with")
    vault.call("hello.prove", proof=proof("client"), **{k: v for k, v in kept.items() if k == "last_head" and v})
    return vault

os.umask(0o077)  # what is written below is for this user alone
domain, name = (([a for a in sys.argv[1:] if a != "--no-ask"]) + ["python-example"])[:2]
state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
path = pathlib.Path(state, "agent-vault", "agents", name + ".json")
path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
kept = json.loads(path.read_text()) if path.exists() else pair(name)
path.write_text(json.dumps(kept))
vault = hello(kept)
info, end = vault.call("domain.get", domain=domain), calendar.timegm((time.gmtime().tm_year + 1, 1, 1, 0, 0, 0)) * 1000 - 1
envelope = {"type": "agentenvelope.actionEnvelope", "version": 1, "agentId": name, "actionIndex": 0, "operation": "send-message",
    "domain": {"domainId": info["domainInfo"]["domainId"], "domainHash": info["domainHash"]}, "resources": ["channel:support"],
    "timeWindow": {"notBefore": None, "notAfter": end}, "decayPolicy": {"mode": "BOTH"}, "limits": {"maxUses": 10, "enforcement": "external"}}
payload = {"type": "example.message", "text": "Hello from Python", "at": int(time.time() * 1000)}
signed = vault.call("action.sign", request_id=secrets.token_hex(16), action_envelope=envelope, payload=payload, interactive="--no-ask" not in sys.argv)
path.write_text(json.dumps({**kept, "last_head": signed["log_head"]}))
print(json.dumps({**signed, "payload": payload}))  # all that "vault verify" asks for
