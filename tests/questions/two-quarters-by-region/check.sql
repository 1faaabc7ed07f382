SELECT region, sum(revenue) FILTER (quarter(date) = 4) AS current, sum(revenue) FILTER (quarter(date) = 3) AS previous,
    current - previous AS change, current / previous - 1 AS change_ratio
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025
GROUP BY region
