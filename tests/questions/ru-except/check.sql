SELECT channel, sum(cost) AS cost
FROM read_csv('examples/sales.csv')
WHERE channel IN ('online', 'store')
GROUP BY channel
