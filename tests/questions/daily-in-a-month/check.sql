SELECT CAST(date AS VARCHAR) AS date, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025 AND month(date) = 3
GROUP BY date
ORDER BY date
