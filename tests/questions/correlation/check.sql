SELECT 'revenue' AS left, 'cost' AS right, covar_pop(revenue, cost) / stddev_pop(revenue) / stddev_pop(cost) AS correlation,
    count(*) AS rows
FROM read_csv('examples/sales.csv')
