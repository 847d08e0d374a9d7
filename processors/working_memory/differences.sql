-- count: memories
SELECT avg(len(items)) AS "mean at hand" FROM working_memory_changed
