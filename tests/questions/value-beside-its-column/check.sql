SELECT sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
WHERE region = 'West' AND year(date) = 2025 AND quarter(date) = 2
