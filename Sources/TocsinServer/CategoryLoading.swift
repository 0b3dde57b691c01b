import TocsinAPI
import TocsinCore

/// The categories of notifications: the operator's file, or those that ship.
enum CategoryLoading {
    static func load(path: String?) throws(StartError) -> [NotificationCategory] {
        let reading: CategoryReading
        if let path {
            do throws(SystemFile.Failure) {
                reading = CategoryReading(try SystemFile.text(of: path), file: path)
            } catch {
                throw StartError("\(path) cannot be read: \(error.reason). Mend TOCSIN_CATEGORIES or the file.")
            }
        } else {
            reading = .shipped
        }
        guard reading.problems.isEmpty else { throw StartError(reading.problems.joined(separator: "\n")) }
        return reading.categories
    }
}
