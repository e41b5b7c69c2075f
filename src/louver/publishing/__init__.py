"""What streams, maps and tables share when they are published: how they are paid for, and how their columns leave."""
