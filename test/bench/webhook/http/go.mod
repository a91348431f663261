module graticule.example/bench/http

go 1.26
