package config

import (
	"fmt"
	"net"
)

// checkUnserved refuses what this version's schema knows and its code does not.
func (d *decoder) checkUnserved(top *section) {
	if d.config.Database != "" {
		d.fatal = append(d.fatal, Fault{At: top.where("database"), What: "this version keeps its record in SQLite only and does not serve database", Todo: "leave database empty; the record is kept in the data folder"})
	}
	if d.config.Redis != "" {
		d.entry("redis", []Fault{{At: top.where("redis"), What: "this version runs as one process and does not use redis", Todo: "leave redis empty"}})
	}
	if at := d.config.WebhookListen; at != "" {
		if _, _, err := net.SplitHostPort(at); err != nil {
			d.entry("webhook_listen", []Fault{{At: top.where("webhook_listen"), What: fmt.Sprintf("webhook_listen: %q is no address", at), Todo: "write host:port, such as 127.0.0.1:8443"}})
		}
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
		d.fatal = append(d.fatal, Fault{At: at, What: fmt.Sprintf("listen: %q is no address", listen), Todo: "write host:port, such as 127.0.0.1:7420"})
		return
	}
	if !IsLoopback(host) && len(d.config.Token) < 32 {
		d.fatal = append(d.fatal, Fault{At: at, What: "listen is reachable from other machines and token has fewer than 32 bytes", Todo: "listen on 127.0.0.1, or set token to a secret of 32 bytes or more"})
	}
}

// IsLoopback reports whether a host, without its port, is this machine alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
