SELECT CAST(date - (isodow(date) - 1)::INTEGER AS VARCHAR) AS date, sum(units) AS units
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025 AND quarter(date) = 1
GROUP BY 1
ORDER BY 1
