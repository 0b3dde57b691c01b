/// What `/metrics` answered, read as Prometheus reads it.
struct MetricsText {
    struct Family {
        var type = ""
        var help = ""
        /// The labels' names, and the values that were seen of each.
        var labels: [(name: String, values: [String])] = []
        var series = 0

        mutating func note(_ label: String, _ value: String) {
            guard let index = labels.firstIndex(where: { $0.name == label }) else {
                labels.append((label, [value]))
                return
            }
            if !labels[index].values.contains(value) { labels[index].values.append(value) }
        }
    }

    private(set) var families: [(name: String, family: Family)] = []
    /// By name and labels as they are written.
    private(set) var values: [String: Double] = [:]

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            switch (words.first, words.dropFirst().first) {
            case ("#", "HELP"): families.append((String(words[2]), Family(help: String(words[3]))))
            case ("#", "TYPE"): families[families.count - 1].family.type = String(words[3])
            default: try take(line)
            }
        }
    }

    subscript(series: String) -> Double? { values[series] }

    private mutating func take(_ line: Substring) throws {
        guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]),
            !families.isEmpty
        else { throw HarnessFailure("This is no sample: \(line)") }
        let series = line[..<space]
        values[String(series)] = value
        families[families.count - 1].family.series += 1
        guard let brace = series.firstIndex(of: "{") else { return }
        for label in series[series.index(after: brace)...].dropLast(2).split(separator: "\",") {
            let pair = label.split(separator: "=\"", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard pair.count == 2, pair[0] != "le" else { continue }
            families[families.count - 1].family.note(pair[0], pair[1])
        }
    }
}

extension Installation {
    /// A token that reads metrics and nothing else.
    func makeMetricsToken(user: String) async throws -> String {
        try await makeToken(user: user, ["--scope", "metrics"])
    }

    /// What `/metrics` says now.
    func metrics(_ token: String) async throws -> MetricsText {
        let answer = try await http("/metrics", token: token)
        guard answer.status == 200 else { throw HarnessFailure("/metrics: \(answer.status), \(answer.body)") }
        return try MetricsText(answer.body)
    }
}
