SELECT channel, sum(revenue) FILTER (region = 'West') AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY channel
