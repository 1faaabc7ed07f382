SELECT DISTINCT channel, sum(revenue) OVER (PARTITION BY channel) AS revenue,
    sum(revenue) OVER (PARTITION BY channel) / sum(revenue) OVER () AS "доля"
FROM read_csv('examples/sales.csv')
