"""What people look at: gangs as rows, trees and a live page. Reads only; nothing here writes to a cluster."""
