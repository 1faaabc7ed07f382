SELECT left(CAST(date AS VARCHAR), 7) || '-01' AS date, region, sum(cost) AS cost
FROM read_csv('examples/sales.csv')
GROUP BY ALL
ORDER BY ALL
