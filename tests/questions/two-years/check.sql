SELECT sum(revenue) FILTER (year(date) = 2025) AS current, sum(revenue) FILTER (year(date) = 2024) AS previous,
    current - previous AS change, current / previous - 1 AS change_ratio
FROM read_csv('examples/sales.csv')
