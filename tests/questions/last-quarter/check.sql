SELECT region, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025 AND quarter(date) = 4
GROUP BY region
