SELECT sum(revenue) FILTER (region = 'West') / sum(revenue) AS "share of revenue",
       sum(revenue) FILTER (region = 'West') AS "revenue where region is West", sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
