SELECT year(date) || '-01-01' AS date, channel, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY ALL
ORDER BY ALL
