SELECT region, channel, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY region, channel
ORDER BY revenue DESC
