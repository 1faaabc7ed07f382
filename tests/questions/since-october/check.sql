SELECT sum(units) AS units
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025 AND month(date) >= 10
