extension Predicate { package func matches(_ record: Record) -> Bool { false } }
