package client

// PairingAs is a pairing with the names of another vault or client.
func PairingAs(p *Pairing, vault, client string) *Pairing {
	return &Pairing{Vault: vault, Client: client, secret: p.secret}
}

// Keep makes a connection believe that it said Hello with p.
func Keep(c *Conn, p *Pairing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = p
}
