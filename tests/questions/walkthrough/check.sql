SELECT left(CAST(date AS VARCHAR), 7) || '-01' AS date, region, product_category, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY ALL
ORDER BY ALL
