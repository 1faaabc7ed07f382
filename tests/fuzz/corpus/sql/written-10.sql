SELECT state, trip_id, fare FROM trips WHERE fare > 5 QUALIFY ROW_NUMBER() OVER (PARTITION BY state ORDER BY fare DESC, trip_id ASC) <= 2
