SELECT '2024-' || lpad(CAST(3 * quarter(date) - 2 AS VARCHAR), 2, '0') || '-01' AS date, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2024
GROUP BY 1
ORDER BY 1
