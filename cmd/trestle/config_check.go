package main

import (
	"fmt"
	"net"
)

// checkUnserved refuses what this version's schema knows and its code does not.
func (d *decoder) checkUnserved(top *section) {
	if d.config.Database != "" {
		d.fatal = append(d.fatal, fault{at: top.where("database"), what: "this version keeps its record in SQLite only and does not serve database", todo: "leave database empty; the record is kept in the data folder"})
	}
	if d.config.Redis != "" {
		d.entry("redis", []fault{{at: top.where("redis"), what: "this version runs as one process and does not use redis", todo: "leave redis empty"}})
	}
	if d.config.WebhookListen != "" {
		d.entry("webhook_listen", []fault{{at: top.where("webhook_listen"), what: "this version polls its platforms and serves no webhooks", todo: "leave webhook_listen empty"}})
	}
}

// checkListen refuses an address that others can reach without a token
// (SECURITY S7).
func (d *decoder) checkListen(top *section) {
	listen := d.config.Listen
	if listen == "" {
		return
	}
	at := top.where("listen")
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		d.fatal = append(d.fatal, fault{at: at, what: fmt.Sprintf("listen: %q is no address", listen), todo: "write host:port, such as 127.0.0.1:7420"})
		return
	}
	if !isLoopback(host) && len(d.config.Token) < 32 {
		d.fatal = append(d.fatal, fault{at: at, what: "listen is reachable from other machines and token has fewer than 32 bytes", todo: "listen on 127.0.0.1, or set token to a secret of 32 bytes or more"})
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
