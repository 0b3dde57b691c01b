/// Finds the name somebody may have meant.
enum NearestName {
    /// ` Did you mean X?`, or nothing when no name is near.
    static func hint(for name: String, among names: Set<String>, prefix: String = "") -> String {
        let allowed = max(2, name.count / 4)
        let nearest = names.map { (name: $0, distance: distance(name, $0)) }
            .filter { $0.distance <= allowed }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        return nearest.map { " Did you mean \(prefix)\($0.name)?" } ?? ""
    }

    /// How many characters must be added, removed or replaced to make one of the other (Levenshtein).
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, byte) in left.utf8.prefix(200).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
