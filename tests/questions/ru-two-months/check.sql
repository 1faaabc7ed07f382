SELECT sum(revenue) FILTER (month(date) = 4) AS current, sum(revenue) FILTER (month(date) = 3) AS previous,
    current - previous AS change, current / previous - 1 AS change_ratio
FROM read_csv('examples/sales.csv')
WHERE year(date) = 2025
