SELECT channel, sum(units) AS units
FROM read_csv('examples/sales.csv')
GROUP BY channel
