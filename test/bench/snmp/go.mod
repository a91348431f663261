module graticule/bench/snmp

go 1.26

require github.com/gosnmp/gosnmp v1.47.0
