SELECT channel, sum(1) AS "число строк"
FROM read_csv('examples/sales.csv')
GROUP BY channel
