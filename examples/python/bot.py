#!/usr/bin/env python3
"""Has one capability minted under a delegate and signs with it; asks nobody: bot.py KEY RESOURCE [NAME]
KEY is the file that "vault bot keygen" made, NAME the pairing that "vault agent pair --name NAME" made."""
import base64, hashlib, hmac, json, os, pathlib, secrets, socket, subprocess, sys, time

def text(raw): return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
def raw(text): return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
def bot(*words, given):
    """What needs the bot's key is signed by "vault bot", which asks nobody."""
    done = subprocess.run([os.environ.get("VAULT_BIN") or "vault", "bot", *words, "--key", key], input=json.dumps(given), stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else sys.exit(done.returncode)  # it said why
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
            detail = answer["error"]["data"].get("detail")
            sys.exit("{code}: {message} {remedy}".format(**answer["error"]["data"]) + (" " + json.dumps(detail) if detail else ""))
        return answer["result"]

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

key, resource, name = (sys.argv[1:] + ["bot"])[:3]
state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
kept = json.loads(pathlib.Path(state, "agent-vault", "agents", name + ".json").read_text())
vault = hello(kept)
challenge = vault.call("bot.nonce")
if (challenge["vault"], challenge["client"]) != (kept["vault"], kept["client"]):
    sys.exit("the challenge is for somebody else")
vault.call("bot.prove", **bot("sign", "--challenge", "-", given=challenge))
allowed = [d for d in vault.call("mint.delegates")["delegates"] if d["state"] == "active"] or sys.exit("no delegate names this bot")
request = bot("request", "--delegate", "-", "--resource", resource, "--agent-id", name, given=allowed[0]["delegate"])
minted = vault.call("mint.request", request=request)
payload = {"type": "example.message", "text": "Hello from a bot", "resource": resource, "at": int(time.time() * 1000)}
signed = vault.call("mint.sign", request_id=secrets.token_hex(16), mint=minted["mint"], payload=payload)
print(json.dumps({**signed, "attestation": minted["attestation"], "payload": payload}))  # all that "vault verify" asks for
