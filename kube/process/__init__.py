"""What every one of our processes needs: settings, logs, health, the lease, the way it starts and ends."""
