SELECT left(CAST(date AS VARCHAR), 7) || '-01' AS date, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025
GROUP BY ALL
ORDER BY ALL
