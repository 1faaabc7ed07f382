SELECT state, legs, n FROM (SELECT state, legs, COUNT(*) AS n FROM trips GROUP BY state, legs) QUALIFY ROW_NUMBER() OVER (PARTITION BY state ORDER BY n DESC) = 1
