SELECT channel, quantile_cont(cost, 0.5) AS "median cost"
FROM read_csv('examples/sales.csv')
GROUP BY channel
