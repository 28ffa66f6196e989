"""An exact search for members that differ, when no order of placing them one after the other was enough."""
