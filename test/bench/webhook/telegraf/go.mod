module graticule.example/bench/telegraf

go 1.26

require github.com/influxdata/telegraf v1.37.2
