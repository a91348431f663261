//go:build tools

// Package tools names the programs of others that the case runs, so that go.mod pins them.
package tools

import (
	_ "github.com/google/gnxi/gnmi_target"
	_ "github.com/openconfig/gnmi/testing/fake/gnmi/cmd/fake_server"
)
