import Foundation

extension EngineReport {
    /// The run as a table in Markdown, for the page of figures.
    func summary(peers: [String]) -> String {
        let head = ["What", "CPU", "a second", "memory", "allocations", "floor"] + peers
        var lines = [Self.cells(head), Self.cells(head.map { _ in "---" })]
        for row in EngineRow.allCases {
            guard let figures = measured[row] else { continue }
            let ours = figures.ours
            var cells = [
                row.title, Self.time(ours.medianMicroseconds) + rate(row, ours), String(format: "%.0f", ours.perSecond),
                String(format: "%.0f MB", Double(ours.memoryBytes) / 1_048_576),
                ours.allocations.map { String(format: "%.0f", $0) } ?? "–",
                figures.floors.map { Self.time($0.figures.medianMicroseconds) + rate(row, $0.figures) }
                    .joined(separator: "; "),
            ]
            for peer in peers {
                let theirs = figures.peers.first { $0.name == peer }?.figures
                cells.append(theirs.map { compared($0, ours, row) } ?? "–")
            }
            lines.append(Self.cells(cells))
        }
        return lines.joined(separator: "\n")
    }

    private func compared(_ theirs: Measurement, _ ours: Measurement, _ row: EngineRow) -> String {
        let times = theirs.medianMicroseconds / ours.medianMicroseconds
        return Self.time(theirs.medianMicroseconds) + rate(row, theirs)
            + String(format: times < 10 ? " (%.1f times)" : " (%.0f times)", times)
    }

    private func rate(_ row: EngineRow, _ figures: Measurement) -> String {
        guard let bytes = row.document.flatMap({ try? documents.bytes($0).count }) else { return "" }
        return String(format: ", %.1f MB/s", Double(bytes) / figures.medianMicroseconds)
    }

    private static func time(_ microseconds: Double) -> String {
        microseconds < 1000
            ? String(format: "%.2f µs", microseconds) : String(format: "%.1f ms", microseconds / 1000)
    }

    private static func cells(_ texts: [String]) -> String { "| " + texts.joined(separator: " | ") + " |" }
}
